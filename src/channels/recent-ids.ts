const mostRecent = 10_000;

/** The ids of messages that this process has sent lately, so that a retry for one recipient sends nothing to the others. */
export function recentIds(): Pick<Set<string>, 'add' | 'has'> {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    add: (id) => {
      const [oldest] = ids;
      if (oldest !== undefined && ids.size >= mostRecent) ids.delete(oldest);
      return ids.add(id);
    },
  };
}
