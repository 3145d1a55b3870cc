import { ProblemError } from '../core/base/problem.ts';
import type { Channel } from './channel.ts';
import type { ChannelKind } from './channel-kind.ts';

/** An entry of a channel file that its kind has found valid. */
export interface ChannelEntry {
  kind: ChannelKind;
  members: unknown;
}

/** Makes the channels of a file, each once, those that others refer to first. */
export class ChannelBuilder {
  readonly #entries: ReadonlyMap<string, ChannelEntry>;
  readonly #made = new Map<string, Promise<Channel>>();
  /** The names that each entry has asked for. */
  readonly #needs = new Map<string, Set<string>>();

  constructor(entries: ReadonlyMap<string, ChannelEntry>) {
    this.#entries = entries;
  }

  /** Throws `policy_invalid` for a channel that needs itself, and what the kind throws. */
  make(name: string): Promise<Channel> {
    const made = this.#made.get(name) ?? this.#makeNew(name, this.#entries.get(name)!);
    this.#made.set(name, made);
    return made;
  }

  /** The names that other channels refer to. */
  needed(): Set<string> {
    return new Set([...this.#needs.values()].flatMap((names) => [...names]));
  }

  async #makeNew(name: string, { kind, members }: ChannelEntry): Promise<Channel> {
    return kind.make(members, {
      name,
      channel: async (other) => {
        if (!this.#entries.has(other)) throw invalid(`there is no channel '${other.slice(0, 64)}'`);
        // Checked before anybody waits: two that wait for each other would never end.
        const way = this.#wayFrom(other, name);
        if (way !== undefined) throw invalid(`it refers to itself: ${[name, ...way].join(' → ')}`);
        this.#needs.set(name, (this.#needs.get(name) ?? new Set()).add(other));
        return this.make(other);
      },
    });
  }

  /** The names on the way from one entry to another, both included; undefined if there is none. */
  #wayFrom(from: string, to: string): string[] | undefined {
    if (from === to) return [to];
    for (const next of this.#needs.get(from) ?? []) {
      const way = this.#wayFrom(next, to);
      if (way !== undefined) return [from, ...way];
    }
    return undefined;
  }
}

function invalid(message: string): ProblemError {
  return new ProblemError({ code: 'policy_invalid', message });
}
