/** A docstring, taken apart. */
export interface Docstring {
  /** Markdown. */
  prose: string;
  examples: Example[];
  /** The tags besides `@example`, such as `@param`. */
  otherTags: string[];
}

export interface Example {
  /** TypeScript; undefined if the example only refers to another one. */
  code?: string;
  /** The text without the block of code. */
  prose: string;
}

/** Takes a comment apart, from `/**` to its end. An empty comment has no prose. */
export function parseDocstring(comment: string): Docstring {
  const lines = comment
    .replace(/^\/\*\*\s?/, '')
    .replace(/\s*\*\/$/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''));
  const sections: string[][] = [[]];
  let isCode = false;
  for (const line of lines) {
    if (!isCode && /^@\w/.test(line)) sections.push([]);
    if (line.startsWith('```')) isCode = !isCode;
    sections.at(-1)!.push(line);
  }
  const [prose = '', ...tags] = sections.map((section) => section.join('\n').trim());
  const isExample = (tag: string): boolean => tag.startsWith('@example');
  return {
    prose,
    examples: tags.filter(isExample).map((tag) => parseExample(tag.slice('@example'.length).trim())),
    otherTags: tags.filter((tag) => !isExample(tag)),
  };
}

function parseExample(text: string): Example {
  const block = /^```ts\n([\s\S]*?)^```$/m.exec(text);
  if (block === null) return { prose: text };
  return { code: block[1]!, prose: text.replace(block[0], '').trim() };
}
