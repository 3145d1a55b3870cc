const mostRecent = 10_000;

/** The messages that this process handed in lately: an attempt that failed at one recipient is not repeated for others. */
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
