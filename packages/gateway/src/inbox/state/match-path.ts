/** The parts of a path that a pattern names, decoded. */
export type PathParams = Readonly<Record<string, string>>;

/** Undefined if the path does not fit; `:name` in the pattern stands for one part that is not empty. */
export function matchPath(pattern: string, path: string): PathParams | undefined {
  const [wanted, given] = [partsOf(pattern), partsOf(path)];
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index]!;
    if (!part.startsWith(':')) {
      if (part !== value) return undefined;
      continue;
    }
    try {
      params[part.slice(1)] = decodeURIComponent(value);
    } catch {
      return undefined;
    }
  }
  return params;
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '');
}
