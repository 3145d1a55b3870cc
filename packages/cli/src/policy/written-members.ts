interface Member {
  key: string;
  /** The exact source text. */
  value: string;
}

/** The members of the object in a JSON text, in order, including duplicate keys. */
export function writtenMembers(text: string): Member[] {
  const members: Member[] = [];
  let depth = 0;
  let key = '';
  let from: number | undefined;
  for (const { kind, start, end } of tokensOf(text)) {
    if (depth === 1 && from !== undefined && (kind === ',' || kind === '}')) {
      members.push({ key, value: text.slice(from, start) });
      from = undefined;
    }
    if (kind === '{' || kind === '[') depth += 1;
    else if (kind === '}' || kind === ']') depth -= 1;
    else if (depth === 1 && kind === ':') from = end;
    else if (depth === 1 && kind === '"' && from === undefined) key = JSON.parse(text.slice(start, end)) as string;
  }
  return members;
}

/** Strings, brackets and separators, in one pass without recursion. */
function* tokensOf(text: string): Generator<{ kind: string; start: number; end: number }> {
  for (let index = 0; index < text.length; index += 1) {
    const kind = text[index]!;
    const start = index;
    if (kind === '"') {
      for (index += 1; index < text.length && text[index] !== '"'; index += 1) if (text[index] === '\\') index += 1;
    } else if (!'{}[]:,'.includes(kind)) {
      continue;
    }
    yield { kind, start, end: index + 1 };
  }
}
