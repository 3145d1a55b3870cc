import { ProblemError } from '../core/base/problem.ts';
import { z } from 'zod';
import { durationSentence, parseDuration } from '../core/base/duration.ts';
import { readFileSync } from 'node:fs';
import type { Channel } from './channel.ts';

/** The error of a channel whose settings cannot work. */
export function policyInvalid(message: string): ProblemError {
  return new ProblemError({ code: 'policy_invalid', message });
}

/**
 * A duration in a channel file, such as `30s`, parsed to milliseconds: at most `longest`, such as `365d`, and not
 * `never`.
 */
export function durationShape(longest: string): z.ZodType<number, string> {
  const sentence = durationSentence.replace(', or never', '');
  return durationShapeBy((durationMs) =>
    durationMs === undefined ? sentence : durationMs > msOf(longest)! ? `must be at most ${longest}` : undefined,
  );
}

/** A duration from `least` to `most`, parsed to milliseconds. The arguments are durations such as `30s`. */
export function durationBetween(least: string, most: string, example: string): z.ZodType<number, string> {
  const sentence = `must be a duration from ${least} to ${most}, such as ${example}`;
  return durationShapeBy((durationMs = 0) =>
    durationMs < msOf(least)! || durationMs > msOf(most)! ? sentence : undefined,
  );
}

function durationShapeBy(problemOf: (durationMs: number | undefined) => string | undefined): z.ZodType<number, string> {
  return z.string().transform((text, context) => {
    const durationMs = msOf(text);
    const problem = problemOf(durationMs);
    if (problem === undefined) return durationMs!;
    context.addIssue(problem);
    return z.NEVER;
  });
}

function msOf(text: string): number | undefined {
  const parsed = parseDuration(text);
  return 'durationMs' in parsed ? (parsed.durationMs ?? undefined) : undefined;
}

/** Reads the PEM file that a member of a channel's settings names. Throws `policy_invalid`. */
export function readPem(path: string, member: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw policyInvalid(`The file of '${member}' cannot be read: ${(error as Error).message}.`);
  }
}

/**
 * Throws `policy_invalid` unless an optional package is installed. Only the first message loads it, because that takes
 * time.
 */
export function requirePackage(name: string, what: string): void {
  try {
    import.meta.resolve(name);
  } catch {
    throw policyInvalid(
      `${what} needs the package '${name}': install it beside countersign with \`npm install ${name}\`.`,
    );
  }
}

/** The text for an error message about a member that must name the place of a secret. */
export const secretPlace =
  'must say where the secret is, { env: NAME } or { file: PATH }: it never stands in the file itself';

/** The form of a secret in a channel file: the place of the secret, never the secret itself. */
export const secretShape = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  secretPlace,
);

/** Reads a secret, without a line break at its end. Throws `policy_invalid` if it is missing or empty. */
export function readSecret(place: z.infer<typeof secretShape>): string {
  const where = 'env' in place ? `the environment variable ${place.env}` : `the file ${place.file}`;
  const secret = ('env' in place ? process.env[place.env] : readText(place.file))?.trimEnd();
  if (secret !== undefined && secret !== '') return secret;
  throw policyInvalid(`The secret in ${where} is missing or empty.`);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** A kind of channel that a channel file (docs/channels.md) can name. */
export interface ChannelKind<Members = unknown> {
  /** An entry without the member `kind`. Names are in snake_case, and durations such as `30s`. */
  shape: z.ZodType<Members>;
  /** The names of the members that refer to other entries of the file. */
  refersTo?: readonly string[];
  make(members: Members, context: ChannelContext): Channel | Promise<Channel>;
}

/** The context in which a kind makes a channel of a file. */
export interface ChannelContext {
  name: string;
  /** The channel of another entry of the file, by name. Throws `policy_invalid` if there is no such entry. */
  channel(name: string): Promise<Channel>;
}

export interface ChannelEntry {
  kind: ChannelKind;
  members: unknown;
}

/** Makes the channels of a file, each once, in the order of their references. */
export class ChannelBuilder {
  readonly #entries: ReadonlyMap<string, ChannelEntry>;
  readonly #made = new Map<string, Promise<Channel>>();
  /** The names to which each entry refers. */
  readonly #needs = new Map<string, Set<string>>();

  constructor(entries: ReadonlyMap<string, ChannelEntry>) {
    this.#entries = entries;
  }

  /**
   * Makes the channel of an entry. Throws `policy_invalid` for a channel that refers to itself, and the errors of its
   * kind.
   */
  make(name: string): Promise<Channel> {
    const made = this.#made.get(name) ?? this.#makeNew(name, this.#entries.get(name)!);
    this.#made.set(name, made);
    return made;
  }

  needed(): Set<string> {
    return new Set([...this.#needs.values()].flatMap((names) => [...names]));
  }

  /**
   * Makes a channel, and first those that it refers to. Throws `policy_invalid` if one does not exist, or refers back
   * to it.
   */
  async #makeNew(name: string, { kind, members }: ChannelEntry): Promise<Channel> {
    return kind.make(members, {
      name,
      channel: async (other) => {
        if (!this.#entries.has(other)) throw policyInvalid(`there is no channel '${other.slice(0, 64)}'`);
        // Checked before waiting for the other channel: two channels that wait for each other would wait for ever.
        const path = this.#pathFrom(other, name);
        if (path !== undefined) throw policyInvalid(`it refers to itself: ${[name, ...path].join(' → ')}`);
        this.#needs.set(name, (this.#needs.get(name) ?? new Set()).add(other));
        return this.make(other);
      },
    });
  }

  /** The path of references from one entry to another, both included. */
  #pathFrom(from: string, to: string): string[] | undefined {
    if (from === to) return [to];
    for (const next of this.#needs.get(from) ?? []) {
      const path = this.#pathFrom(next, to);
      if (path !== undefined) return [from, ...path];
    }
    return undefined;
  }
}
