/** Where in a call's arguments something is, as a model reads it: `arguments.items[2].name`. */
export function argumentPlace(path: readonly PropertyKey[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    const name = String(step).slice(0, 64);
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  });
  return `arguments${steps.join('')}`;
}
