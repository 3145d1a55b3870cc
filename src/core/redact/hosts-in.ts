/** A text that begins with an address. */
const isAddress = /^\s*(?:[a-z][a-z\d+.-]{0,30}:|\/\/)/i;

/**
 * The hosts of the addresses in a text, as ranges from start to before end: what stands between the last `@` and the path. Of
 * `https://bank.example;a@evil.example/pay` the host is `evil.example`, as browsers and curl read it.
 */
export function hostsIn(text: string): [start: number, end: number][] {
  // A quote may be part of an address, but in running text it ends one.
  const ends = isAddress.test(text) ? /[/?#\\ ]/g : /[/?#\\\s"'<>`]/g;
  // What stands before a host. For their own schemes, browsers read any number of slashes of either kind.
  const search = /\b(?:https?|wss?|ftp):[/\\]*|:\/\/|^\s*\/\//gi;
  const hosts: [number, number][] = [];
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const start = match.index + match[0].length;
    ends.lastIndex = start;
    const end = ends.exec(text)?.index ?? text.length;
    hosts.push([start + text.slice(start, end).lastIndexOf('@') + 1, end]);
    search.lastIndex = end;
  }
  return hosts;
}
