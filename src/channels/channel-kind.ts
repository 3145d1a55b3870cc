import { ProblemError } from '../core/base/problem.ts';
import { z } from 'zod';
import { durationSentence, parseDuration } from '../core/base/duration.ts';
import { readFileSync } from 'node:fs';
import type { Channel } from './channel.ts';
import { readFault } from '../text/read-fault.ts';

/** The error of a channel whose settings cannot work. */
export function policyInvalid(message: string): ProblemError {
  return new ProblemError({ code: 'policy_invalid', message });
}

/** The schema of a duration such as `30s`, of at most `longest` and not `never`, which it converts to milliseconds. */
export function durationShape(longest: string): z.ZodType<number, string> {
  const sentence = durationSentence.replace(', or never', '');
  return durationShapeBy((durationMs) =>
    durationMs === undefined ? sentence : durationMs > msOf(longest)! ? `must be at most ${longest}` : undefined,
  );
}

/** The schema of a duration from `least` to `most`, which it converts to milliseconds. */
export function durationBetween(least: string, most: string, example: string): z.ZodType<number, string> {
  const sentence = `must be a duration from ${least} to ${most}, such as ${example}`;
  return durationShapeBy((durationMs = 0) =>
    durationMs < msOf(least)! || durationMs > msOf(most)! ? sentence : undefined,
  );
}

/** `problemOf` returns what is wrong with a duration, if anything. It gets undefined for `never` and other texts. */
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
    throw policyInvalid(`The file ${path} of '${member}' cannot be read: ${readFault(error)}.`);
  }
}

/** Throws `policy_invalid` unless the package that `what` needs is installed. Only the first message loads it. */
export function requirePackage(name: string, what: string): void {
  try {
    import.meta.resolve(name);
  } catch {
    throw policyInvalid(
      `${what} needs the package '${name}': install it beside countersign with \`npm install ${name}\`.`,
    );
  }
}

/** The end of an error message about a secret that is written into a channel file. */
export const secretPlace =
  'must say where the secret is, { env: NAME } or { file: PATH }: it never stands in the file itself';

/** The schema of a secret in a channel file: the name of an environment variable or a file that contains it. */
export const secretShape = z.union(
  [z.strictObject({ env: z.string().min(1) }), z.strictObject({ file: z.string().min(1) })],
  secretPlace,
);

/** Reads the secret to which a setting refers. Throws `policy_invalid` if it is missing or empty. */
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
  /** The schema of an entry without `kind`. Names are in snake_case, and durations are texts such as `30s`. */
  shape: z.ZodType<Members>;
  /** The names of the settings whose value is the name of another entry. */
  refersTo?: readonly string[];
  make(members: Members, context: ChannelContext): Channel | Promise<Channel>;
}

/** What a kind gets to make the channel of an entry. */
export interface ChannelContext {
  name: string;
  /** Returns the channel of another entry. Throws `policy_invalid` for an unknown name, or a cycle of references. */
  channel(name: string): Promise<Channel>;
}

export interface ChannelEntry {
  kind: ChannelKind;
  members: unknown;
}

/** Makes the channels of a file, each once. A channel that refers to another is made after that one. */
export class ChannelBuilder {
  readonly #entries: ReadonlyMap<string, ChannelEntry>;
  readonly #made = new Map<string, Promise<Channel>>();
  /** For each entry, the names of the entries to which it refers. */
  readonly #needs = new Map<string, Set<string>>();

  constructor(entries: ReadonlyMap<string, ChannelEntry>) {
    this.#entries = entries;
  }

  /** Returns the channel of an entry, always the same object. Throws `policy_invalid`, and the errors of the kind. */
  make(name: string): Promise<Channel> {
    const made = this.#made.get(name) ?? this.#makeNew(name, this.#entries.get(name)!);
    this.#made.set(name, made);
    return made;
  }

  /** Returns the names of the entries to which others refer. */
  needed(): Set<string> {
    return new Set([...this.#needs.values()].flatMap((names) => [...names]));
  }

  /** Makes a channel. When its kind asks for another one, notes the reference, and refuses a cycle. */
  async #makeNew(name: string, { kind, members }: ChannelEntry): Promise<Channel> {
    return kind.make(members, {
      name,
      channel: async (other) => {
        if (!this.#entries.has(other)) throw policyInvalid(`there is no channel '${other.slice(0, 64)}'`);
        // Check for a cycle before awaiting the other channel: channels that await each other would never be made.
        const path = this.#pathFrom(other, name);
        if (path !== undefined) throw policyInvalid(`it refers to itself: ${[name, ...path].join(' → ')}`);
        this.#needs.set(name, (this.#needs.get(name) ?? new Set()).add(other));
        return this.make(other);
      },
    });
  }

  /** The path of references from one entry to another, including both; undefined if there is none. */
  #pathFrom(from: string, to: string): string[] | undefined {
    if (from === to) return [to];
    for (const next of this.#needs.get(from) ?? []) {
      const path = this.#pathFrom(next, to);
      if (path !== undefined) return [from, ...path];
    }
    return undefined;
  }
}
