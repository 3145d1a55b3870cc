/**
 * How many places can be filled at once, each by a different person: the size of a maximum matching. A person who fits
 * several places moves to another if that makes room.
 */
export function maxMatching<Place, Person>(
  places: readonly Place[],
  people: readonly Person[],
  fits: (place: Place, person: Person) => boolean,
): number {
  const placeOf = new Map<Person, Place>();
  const fill = (place: Place, tried: Set<Person>): boolean =>
    people.some((person) => {
      if (tried.has(person) || !fits(place, person)) return false;
      tried.add(person);
      const taken = placeOf.get(person);
      if (placeOf.has(person) && !fill(taken as Place, tried)) return false;
      placeOf.set(person, place);
      return true;
    });
  return places.filter((place) => fill(place, new Set())).length;
}
