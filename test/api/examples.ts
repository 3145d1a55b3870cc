import type { ApiEntry } from '../../tools/api/read-api.ts';

/** An example of a docstring, as a file. */
export interface ExampleFile {
  /** The export; a second example of it is `NAME 2`. */
  title: string;
  /** Such as `defineTool.ts`. */
  file: string;
  code: string;
  /** `pure` needs nothing, `server` a Temporal server, `workflow` is code for a worker. */
  kind: 'pure' | 'server' | 'workflow';
}

/** Every example of the entries, once. */
export function examplesOf(api: readonly ApiEntry[]): ExampleFile[] {
  const exported = api.flatMap(({ values, types }) => [...values, ...types]);
  const once = [...new Map(exported.map((each) => [each.id, each])).values()];
  return once.flatMap(({ name, doc }) =>
    doc.examples
      .flatMap(({ code }) => (code === undefined ? [] : [code]))
      .map((code, index) => {
        const title = index === 0 ? name : `${name} ${index + 1}`;
        return { title, file: `${title.replace(' ', '-')}.ts`, code, kind: kindOf(code) };
      }),
  );
}

function kindOf(code: string): ExampleFile['kind'] {
  if (/\b(?:createClient|createWorker|(?:Native)?Connection\.connect)\(/.test(code)) return 'server';
  return code.includes("from '@temporalio/workflow'") ? 'workflow' : 'pure';
}

/** Returns the output that an example claims: the comment after each `console.log`, on the same line or the next. */
export function printedBy(code: string): string[] {
  const lines = code.split('\n');
  return lines.flatMap((line, index) => {
    const [, before = '', said] = /^(.*?)(?:^|\s)\/\/ (.*)$/.exec(line) ?? [];
    const isResult = before.trim() === '' ? /console\.log\(.*\);$/.test(lines[index - 1] ?? '') : true;
    return said !== undefined && isResult ? [said] : [];
  });
}
