/** Assesses database statements (docs/assessment.md). */
import { type CallView, tooLong, type Finding, holdsWord, isNamed } from './finding.ts';
import { type StatementRow, statementRows } from './command-rows.ts';

/** The longest text that is read, in UTF-16 code units. A longer one is rated `high`. */
export const longestStatement = 20_000;

const databaseTools = new Set(
  'sql db database postgres postgresql mysql sqlite bigquery snowflake redis mongo'.split(' '),
);
const statementFields = new Set('sql statement statements'.split(' '));
const queryFields = new Set('query queries'.split(' '));
/** If a tool's name has one of these words, its `query` is a database query; otherwise it may be a web search. */
const runningWords = new Set('run execute exec query'.split(' '));

/** Assesses the statements in a call: all texts of a database tool, else the arguments named for statements. */
export function assessDatabases({ tool, fields }: CallView): Finding[] {
  const isDatabase = holdsWord(tool, databaseTools);
  const runsQueries = isDatabase || holdsWord(tool, runningWords);
  return fields.flatMap(({ words, value }) =>
    typeof value === 'string' &&
    (isDatabase || isNamed(words, statementFields) || (runsQueries && isNamed(words, queryFields)))
      ? assessStatements(value, true)
      : [],
  );
}

/** Returns the findings about the statements in a text. `certain`: the text is known to be for a database. */
export function assessStatements(text: string, certain: boolean): Finding[] {
  if (text.length > longestStatement) return [tooLong];
  return withoutComments(text.toLowerCase())
    .split(';')
    .flatMap((statement) => rowsMatching(statement, certain))
    .map(({ severity, reason, reversible }) => ({ severity, reason, reversible }));
}

/** The rows that match one statement. A row without `next` matches only if the text is certainly for a database. */
function rowsMatching(statement: string, certain: boolean): StatementRow[] {
  // After `--` there may be a comment, or an option: a harmful word counts there, a `where` does not.
  const certainWords = new Set(wordsOf(statement.replace(/--[^\n]*/g, ' ').replace(alwaysTrue, ' ')));
  const words = wordsOf(statement);
  const followers = new Map<string, Set<string>>();
  for (const [index, word] of words.entries()) {
    const next = followers.get(word) ?? new Set();
    followers.set(word, next.add(words[index + 1] ?? ''));
  }
  return statementRows.filter(({ first, next, without }) => {
    const after = followers.get(first);
    if (after === undefined || (without !== undefined && certainWords.has(without))) return false;
    return next === undefined ? certain : next.split(' ').some((word) => after.has(word));
  });
}

/** A condition that every row meets, such as `where 1=1`. It counts as no condition. */
const alwaysTrue = /\bwhere\s{1,9}\(?\s{0,9}(?:true|'?(\w{1,20})'?\s{0,9}=\s{0,9}'?\1'?)\s{0,9}\)?\s{0,9}(?:or\b.*)?$/s;

function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_]+/gu) ?? [];
}

function withoutComments(text: string): string {
  const [before = '', ...commented] = text.split('/*');
  return [before, ...commented.map((part) => part.slice(part.includes('*/') ? part.indexOf('*/') + 2 : 0))].join(' ');
}
