import type { Channel } from './channel.ts';
import type { ChannelKind } from './channel-kind.ts';
import { policyInvalid } from './policy-invalid.ts';

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
        if (!this.#entries.has(other)) throw policyInvalid(`there is no channel '${other.slice(0, 64)}'`);
        // Checked before waiting: two channels that wait for each other would never end.
        const path = this.#pathFrom(other, name);
        if (path !== undefined) throw policyInvalid(`it refers to itself: ${[name, ...path].join(' → ')}`);
        this.#needs.set(name, (this.#needs.get(name) ?? new Set()).add(other));
        return this.make(other);
      },
    });
  }

  /** The path of references from one entry to another, both included; undefined if there is none. */
  #pathFrom(from: string, to: string): string[] | undefined {
    if (from === to) return [to];
    for (const next of this.#needs.get(from) ?? []) {
      const path = this.#pathFrom(next, to);
      if (path !== undefined) return [from, ...path];
    }
    return undefined;
  }
}
