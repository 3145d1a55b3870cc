import { personKey } from '../core/people/person-key.ts';
import type { ShapeProblem } from '../policy-file/explain-shape.ts';
import { explainWithoutValues } from '../policy-file/explain.ts';
import type { ChannelEntry } from './channel-builder.ts';
import type { ChannelDocument } from './channel-file-shape.ts';
import type { ChannelKind } from './channel-kind.ts';

/** The entries that their kinds find valid, and what is wrong with the others and with the routes. */
export async function readEntries(
  document: Pick<ChannelDocument, 'channels' | 'routes'>,
  kinds: Readonly<Record<string, ChannelKind>>,
): Promise<{ entries: Map<string, ChannelEntry>; problems: ShapeProblem[] }> {
  const entries = new Map<string, ChannelEntry>();
  const problems = routeProblems(document);
  for (const [name, { kind: kindName, quiet_hours: _, ...members }] of Object.entries(document.channels)) {
    const kind = Object.hasOwn(kinds, kindName) ? kinds[kindName]! : undefined;
    if (kind === undefined) {
      problems.push({ path: ['channels', name, 'kind'], message: unknownKind(kindName, kinds) });
      continue;
    }
    const shaped = await kind.shape.safeParseAsync(members);
    if (shaped.success) {
      entries.set(name, { kind, members: shaped.data });
      for (const member of kind.refersTo ?? []) {
        const other = String((shaped.data as Record<string, unknown>)[member]);
        problems.push(...unknownChannels(document, [{ other, path: ['channels', name, member] }]));
      }
    } else {
      const what = { document: members, shape: kind.shape, what: `channel '${name}'` };
      const found = explainWithoutValues(shaped.error, what);
      problems.push(...found.map((each) => ({ ...each, path: ['channels', name, ...each.path] })));
    }
  }
  return { entries, problems };
}

function unknownKind(name: string, kinds: Readonly<Record<string, ChannelKind>>): string {
  if (name === 'callback') {
    return `a callback is a function, which no file can hold: give it to createWorker as channels: { NAME: function }`;
  }
  if (name === 'pager_duty') {
    return `there is no kind 'pager_duty' any more: the entry for PagerDuty in docs/on-call.md, of the kind 'http_template', sends the same events`;
  }
  return `'kind' must be one of ${Object.keys(kinds).join(', ')}`;
}

function unknownChannels(
  { channels }: Pick<ChannelDocument, 'channels'>,
  named: readonly { other: string; path: readonly PropertyKey[] }[],
): ShapeProblem[] {
  const unknown = named.filter(({ other }) => !Object.hasOwn(channels, other));
  return unknown.map(({ other, path }) => ({ path, message: `there is no channel '${other.slice(0, 64)}'` }));
}

function routeProblems({ channels, routes }: Pick<ChannelDocument, 'channels' | 'routes'>): ShapeProblem[] {
  if (routes === undefined) return [];
  const unknown = (names: readonly string[], path: readonly PropertyKey[]): ShapeProblem[] =>
    unknownChannels(
      { channels },
      names.map((other, index) => ({ other, path: [...path, index] })),
    );
  const reviewers = Object.entries(routes.reviewers ?? {});
  const forms = reviewers.map(([name]) => personKey(name));
  return [
    ...unknown(routes.default, ['routes', 'default']),
    ...(routes.requests ?? []).flatMap((route, index) =>
      unknown(route.channels, ['routes', 'requests', index, 'channels']),
    ),
    ...reviewers.flatMap(([name, names], index): ShapeProblem[] => {
      const path = ['routes', 'reviewers', name];
      if (forms.indexOf(forms[index]!) === index) return unknown(names, path);
      return [{ path, message: `'${name}' appears twice, in two spellings`, part: 'key' }];
    }),
  ];
}
