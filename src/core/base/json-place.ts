/** A place in a JSON value, written for a model or a person: `arguments.items[2].name`, where `root` is `arguments`. */
export function jsonPlace(root: string, path: readonly PropertyKey[]): string {
  const steps = path.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    const name = String(step).slice(0, 64);
    return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
  });
  return root + steps.join('');
}
