/** Computes each character's answer once: a text of a million characters has a few hundred different ones. */
export function perCharacter<Answer>(answerOf: (character: string) => Answer): (character: string) => Answer {
  const known = new Map<string, Answer>();
  return (character) => {
    let answer = known.get(character);
    if (answer === undefined) {
      answer = answerOf(character);
      known.set(character, answer);
    }
    return answer;
  };
}
