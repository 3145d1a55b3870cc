/** The names under which the inbox's search attributes are registered on a cluster. */
export interface AttributeNames {
  /** KeywordList: the ids of open requests. */
  ids: string;
  /** KeywordList: the tags of open requests, and the ids of recently settled ones. Null: the run writes no tags. */
  tags: string | null;
  /** Datetime: the earliest deadline. */
  due: string;
}

/** Names that differ from the defaults. `tags: false` omits the tags, for a cluster with few free attribute slots. */
export interface AttributeNameOptions {
  /** Default `ApprovalIds`. */
  ids?: string;
  /** Default `ApprovalTags`. */
  tags?: string | false;
  /** Default `ApprovalDue`. */
  due?: string;
}

/** The type of a search attribute, by Temporal's name. */
export type AttributeType = 'KEYWORD_LIST' | 'DATETIME';

export const defaultAttributeNames: AttributeNames = { ids: 'ApprovalIds', tags: 'ApprovalTags', due: 'ApprovalDue' };

/** Names that a query accepts without quotes. Temporal reserves those that begin with `Temporal`. */
const nameShape = /^(?!Temporal)[A-Za-z][A-Za-z0-9_]{0,63}$/;

/** The names with defaults, and null for `tags: false`; or a problem, before which the caller writes the setting. */
export function attributeNames(requested: AttributeNameOptions): AttributeNames | string {
  const unknown = Object.keys(requested).find((key) => !Object.hasOwn(defaultAttributeNames, key));
  if (unknown !== undefined) return `'${unknown}' is none of ids, tags, due`;
  const { ids, tags, due } = { ...defaultAttributeNames, ...requested };
  const names = [ids, due, ...(tags === false || tags === null ? [] : [tags])];
  const bad = names.find((name) => typeof name !== 'string' || !nameShape.test(name));
  if (bad !== undefined)
    return `'${bad}' is not a name: letters, digits and _, at most 64, not beginning with Temporal`;
  if (new Set(names).size < names.length) return 'each attribute needs a name of its own';
  return { ids, tags: tags === false ? null : tags, due };
}

/** The types under which a cluster must have the names registered. */
export function attributeTypes({ ids, tags, due }: AttributeNames): Record<string, AttributeType> {
  return { [ids]: 'KEYWORD_LIST', ...(tags === null ? {} : { [tags]: 'KEYWORD_LIST' }), [due]: 'DATETIME' };
}
