import { risks, isObject, nearestName, type Json, type Risk, unknownName } from 'countersign/base';
import { readJson } from 'countersign/json';
import { isMode, modes } from 'countersign/policy';
import { type DescribedCall, parseSubject, parseSums, subjectWanted, sumsWanted } from './described-call.ts';
import { writtenMembers } from './policy-file.ts';

/** `id` is returned unchanged; null if the line has none. */
export type PolicyCase = { id: Json; call: DescribedCall } | { id: Json; error: string };

const known = ['id', 'tool', 'args', 'risk', 'subject', 'agent', 'sums', 'mode'] as const;
/** Only a run can give these to a ruling: a line that has one is refused. */
const notInLine = ['caller', 'metadata', 'counts', 'grants', 'shell'];
type Fields = Partial<Record<(typeof known)[number], { value: Json; written: string }>>;

/**
 * Reads one line of `policy eval`. Never throws. Ignores custom members, such as `expect`. A misspelt member is a
 * problem, and so is one that a ruling reads but a line cannot give.
 */
export function readCase(line: string): PolicyCase {
  const fields = readFields(line);
  if (typeof fields === 'string') return { id: null, error: fields };
  const id = readJson(fields.id?.written ?? 'null', { root: 'id' });
  if ('problem' in id) return { id: null, error: id.problem };
  const call = readCall(fields);
  return typeof call === 'string' ? { id: id.value, error: call } : { id: id.value, call };
}

/** The call, or the problem with it. */
function readCall(fields: Fields): DescribedCall | string {
  const [tool, risk, subject, agent, sums, mode] = (['tool', 'risk', 'subject', 'agent', 'sums', 'mode'] as const).map(
    (name) => fields[name]?.value,
  );
  if (typeof tool !== 'string') return `'tool' must be a text`;
  if (fields.args === undefined) return `'args' is missing`;
  const args = readJson(fields.args.written, { root: 'args' });
  if ('problem' in args) return args.problem;
  if (!isObject(args.value)) return `'args' must be an object`;
  if (risk !== undefined && !isRisk(risk)) return `'risk' must be one of ${[...risks, 'unknown'].join(', ')}`;
  const read = subject === undefined ? undefined : parseSubject(subject);
  if (subject !== undefined && read === undefined) return `'subject' must be ${subjectWanted}`;
  if (agent !== undefined && typeof agent !== 'string') return `'agent' must be a text`;
  const added = sums === undefined ? undefined : parseSums(sums);
  if (sums !== undefined && added === undefined) return `'sums' must be ${sumsWanted}`;
  if (mode !== undefined && !isMode(mode)) return `'mode' must be one of ${modes.join(', ')}`;
  return { tool, args: args.value, risk: risk ?? 'write', subject: read, agent, sums: added, mode };
}

/** The known fields of a line, or the problem with it. A duplicate key is a problem. */
function readFields(line: string): Fields | string {
  let value: Json;
  try {
    value = JSON.parse(line) as Json;
  } catch {
    return line.trim() === '' ? 'the line is empty' : 'the line is not JSON';
  }
  if (!isObject(value)) return 'the line is not an object';
  const fields: Fields = {};
  for (const { key, value: written } of writtenMembers(line)) {
    const name = known.find((each) => each === key);
    if (name === undefined) {
      if (nearestName(key, known) !== undefined || notInLine.includes(key)) return unknownName('key', key, known);
      continue;
    }
    if (Object.hasOwn(fields, name)) return `'${name}' appears twice in the line`;
    fields[name] = { value: value[name]!, written };
  }
  return fields;
}

function isRisk(value: Json): value is Risk {
  return value === 'unknown' || risks.some((risk) => risk === value);
}
