package lectus.server;

/** Where a member listens on the bus, and how much it takes. */
final class MemberAddress {
  /** A message to this address asks for more than a value of the configuration. */
  static final int MAX_QUESTION_BYTES = 64 << 10;

  /** All figures take some hundred kilobytes. */
  static final int MAX_ANSWER_BYTES = 8 << 20;

  /** Questions that one server asks, and that it answers, at a time. */
  static final int MAX_AT_ONCE = 32;

  /** A member that does not answer in this time is not waited for. */
  static final long PATIENCE_MILLIS = 5_000;

  private MemberAddress() {}

  static String of(String member) {
    return "lectus.member." + member;
  }
}
