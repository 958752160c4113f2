package lectus.document.write;

/**
 * What decides, beside the stored revisions, whether an edit is stored.
 *
 * @param ignoresValidation whether to store edits although nothing runs the {@code
 *     validate_doc_update} that should judge them
 */
public record WriteRules(boolean ignoresValidation, EditRule rule) {
  public static final WriteRules NONE = new WriteRules(false, EditRule.NONE);

  /** Returns the rules of a server that knows no users. */
  public static WriteRules ignoringValidation(boolean ignoresValidation) {
    return new WriteRules(ignoresValidation, EditRule.NONE);
  }
}
