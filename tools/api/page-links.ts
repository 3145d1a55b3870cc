import type { ApiExport } from './read-api.ts';

/** The anchors of the exports on the page, and the links to them. */
export class PageLinks {
  /** By the id of the export. */
  readonly #links = new Map<string, string>();
  readonly #byName = new Map<string, string>();
  readonly #taken = new Map<string, number>();

  /** Takes the anchor that GitHub gives the next heading. */
  heading(text: string): string {
    const slug = text
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-');
    const count = this.#taken.get(slug) ?? 0;
    this.#taken.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  }

  /** Takes the anchor of an export. Of two exports with one name, texts link to the first. */
  add({ id, name }: ApiExport): void {
    const anchor = this.heading(name);
    this.#links.set(id, `[\`${name}\`](#${anchor})`);
    if (!this.#byName.has(name)) this.#byName.set(name, anchor);
  }

  has({ id }: ApiExport): boolean {
    return this.#links.has(id);
  }

  /** Throws for an export that the page does not describe. */
  to({ id, name }: ApiExport): string {
    const link = this.#links.get(id);
    if (link === undefined) throw new Error(`the page does not describe ${name}`);
    return link;
  }

  /** The text of a docstring, with links to exports and to pages of `docs/`. Throws for a `{@link}` to anything else. */
  inProse(prose: string, self?: string): string {
    return prose
      .replaceAll(/\{@link (\w+)\}/g, (_link, name: string) => {
        if (!this.#byName.has(name)) throw new Error(`{@link ${name}}: no entry exports it`);
        return `\`${name}\``;
      })
      .replaceAll(/(?<!\[)`(\w+)`/g, (code, name: string) => {
        const anchor = this.#byName.get(name);
        return anchor === undefined || name === self ? code : `[${code}](#${anchor})`;
      })
      .replaceAll(/`?docs\/([\w/-]+\.md)`?/g, (_path, page: string) => `[${page}](${page})`);
  }

  /** The exports that a declaration names. */
  namedIn({ names, id }: ApiExport): string[] {
    return names.filter((each) => each !== id).flatMap((each) => this.#links.get(each) ?? []);
  }
}
