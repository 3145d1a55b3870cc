import { checkCallOptions } from '../text/check-call-options.ts';
import { type AttributeNames, type AttributeNameOptions, attributeNames } from '../core/base/attribute-names.ts';
import { ProblemError } from '../core/base/problem.ts';

/**
 * The names of the inbox's search attributes: those given here, else those in `COUNTERSIGN_ATTRIBUTES`
 * (`ids=MyIds,tags=off,due=MyDue`), else the defaults. Throws `internal` with one sentence.
 */
export function attributeNamesOf(
  wishes: AttributeNameOptions | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): AttributeNames {
  if (wishes !== undefined) checkCallOptions('attributes', wishes, { ids: true, tags: true, due: true }, 'internal');
  const names = attributeNames(wishes ?? readAttributeOptions(environment['COUNTERSIGN_ATTRIBUTES'] ?? ''));
  if (typeof names !== 'string') return names;
  const where = wishes === undefined ? 'COUNTERSIGN_ATTRIBUTES' : 'attributes';
  const remedy = wishes === undefined ? '; write it like ids=MyIds,tags=off,due=MyDue' : '';
  throw new ProblemError({ code: 'internal', message: `${where}: ${names}${remedy}.` });
}

function readAttributeOptions(text: string): AttributeNameOptions {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [key = '', name = ''] = pair.split('=', 2).map((part) => part.trim());
      return [key, key === 'tags' && name === 'off' ? false : name];
    }),
  );
}
