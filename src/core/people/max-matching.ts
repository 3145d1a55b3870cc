/**
 * How many places can be filled at once, each by a different person: the size of a maximum matching. A person who fits
 * several places moves to another if that makes room. `people` holds each person once.
 */
export function maxMatching<Place, Person>(
  places: readonly Place[],
  people: readonly Person[],
  fits: (place: Place, person: Person) => boolean,
): number {
  // The other places take all but one of as many people as there are places, so more of them make no difference.
  const fitting = places.map((place) => firstOf(people, places.length, (person) => fits(place, person)));
  const placeOf = new Map<Person, number>();
  const fill = (place: number, tried: Set<Person>): boolean =>
    fitting[place]!.some((person) => {
      if (tried.has(person)) return false;
      tried.add(person);
      const taken = placeOf.get(person);
      if (taken !== undefined && !fill(taken, tried)) return false;
      placeOf.set(person, place);
      return true;
    });
  return places.filter((_, place) => fill(place, new Set())).length;
}

function firstOf<Item>(items: Iterable<Item>, most: number, isWanted: (item: Item) => boolean): Item[] {
  const found: Item[] = [];
  for (const item of items) {
    if (found.length >= most) break;
    if (isWanted(item)) found.push(item);
  }
  return found;
}
