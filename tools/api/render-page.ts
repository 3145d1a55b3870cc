import { format } from 'prettier';
import { PageLinks } from './page-links.ts';
import type { ApiEntry, ApiExport } from './read-api.ts';

const introduction = `# API

What each entry of the packages exports. \`npm run api\` writes this page from the declarations: edit the comments in the
sources, not the page. [Install](install.md) says which entry is for what.

A test compiles and runs every example; the comment after \`console.log\` says what it prints. Clients find their server by
Temporal's environment configuration, such as \`TEMPORAL_ADDRESS\`. Where a client needs a worker, it has two agents: \`clerk\`
answers at once, and \`support\` calls a tool \`refund\`, about which the policy asks.
`;

/** The whole page, formatted as the other pages are. An export of several entries is described under the first. */
export async function renderPage(api: readonly ApiEntry[]): Promise<string> {
  const links = new PageLinks();
  links.heading('API');
  const own = api.map((entry) => ownOf(entry, links));
  const sections = api.map((entry, index) => renderEntry(entry, own[index]!, links));
  const contents = api.map(({ entry, values }) => {
    const names = values.map((each) => links.to(each)).join(', ');
    return `- [${entry}](#${entry.replaceAll(/[@/]/g, '')}): ${names}\n`;
  });
  const page = [introduction, contents.join(''), ...sections].join('\n');
  return format(page, { parser: 'markdown', singleQuote: true, printWidth: 120, proseWrap: 'always' });
}

type Own = Pick<ApiEntry, 'values' | 'types'>;

/** Returns the exports that no earlier entry has. Takes the anchors of its headings, in the order of the page. */
function ownOf({ entry, values, types }: ApiEntry, links: PageLinks): Own {
  const isNew = (each: ApiExport): boolean => !links.has(each);
  const own = { values: values.filter(isNew), types: types.filter(isNew) };
  links.heading(entry);
  for (const each of own.values) links.add(each);
  if (own.types.length > 0) links.heading(typesHeading(entry));
  for (const each of own.types) links.add(each);
  return own;
}

const typesHeading = (entry: string): string => `Types of ${entry}`;

function renderEntry({ entry, doc, values, types }: ApiEntry, own: Own, links: PageLinks): string {
  const again = (all: readonly ApiExport[], shown: readonly ApiExport[]): string[] =>
    all.filter((each) => !shown.includes(each)).map((each) => links.to(each));
  const againIn = [...again(values, own.values), ...again(types, own.types)];
  return [
    `## ${entry}`,
    links.inProse(doc.prose),
    ...own.values.map((each) => renderExport(each, '###', links)),
    ...(own.types.length > 0 ? [`### ${typesHeading(entry)}`] : []),
    ...own.types.map((each) => renderExport(each, '####', links)),
    ...(againIn.length > 0 ? [`This entry also exports, from above: ${againIn.join(', ')}.`] : []),
    '',
  ].join('\n\n');
}

function renderExport(each: ApiExport, level: string, links: PageLinks): string {
  const { name, code, doc } = each;
  const named = links.namedIn(each);
  const examples = doc.examples.flatMap((example) => [
    links.inProse(example.prose, name),
    ...(example.code === undefined ? [] : [block(example.code)]),
  ]);
  return [
    `${level} ${name}`,
    block(code),
    links.inProse(doc.prose, name),
    ...(named.length > 0 ? [`Types: ${named.join(', ')}.`] : []),
    ...examples,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function block(code: string): string {
  return `\`\`\`ts\n${code.trimEnd()}\n\`\`\``;
}
