package lectus.mango.selector;

/**
 * A text for a regular expression. Each character is charged when it is first reached: a matcher
 * goes through a text once, and each instruction takes at most one step per character.
 */
final class BudgetedText implements CharSequence {
  /** Number of characters charged at once. */
  private static final int STRIDE = 1_024;

  private final String text;
  private final long workPerCharacter;
  private final MatchBudget budget;
  private int paidFor;

  BudgetedText(String text, long workPerCharacter, MatchBudget budget) {
    this.text = text;
    this.workPerCharacter = workPerCharacter;
    this.budget = budget;
  }

  @Override
  public char charAt(int index) {
    if (index >= paidFor) {
      payUpTo(Math.min(text.length(), index + STRIDE));
    }
    return text.charAt(index);
  }

  private void payUpTo(int end) {
    budget.spend(workPerCharacter * (end - paidFor));
    paidFor = end;
  }

  @Override
  public int length() {
    return text.length();
  }

  @Override
  public CharSequence subSequence(int start, int end) {
    return text.subSequence(start, end);
  }

  @Override
  public String toString() {
    return text;
  }
}
