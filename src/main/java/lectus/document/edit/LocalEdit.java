package lectus.document.edit;

import java.util.Optional;
import lectus.database.UserContext;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.store.Fence;

/**
 * A write of a local document. Local documents have no history, so they neither conflict nor
 * replicate.
 *
 * @param id with its {@code _local/}
 * @param number the number of the new revision: 3 for {@code 0-3}; 0 for a removal
 */
public record LocalEdit(
    String id,
    long number,
    boolean deleted,
    ExplodedBody body,
    UserContext by,
    Optional<Fence> fence)
    implements Edit {
  private static final String REVISION_HEAD = "0-";

  /** A long holds any number with this many digits. */
  private static final int MAX_DIGITS = 18;

  /** The revision before a local document's first write. */
  public static final String NO_REVISION = REVISION_HEAD + 0;

  /**
   * @param given the revision that the client names, whatever is stored
   * @throws LectusException {@code bad_request}, "Invalid rev format"
   */
  static LocalEdit over(String given, String id, boolean deleted, ExplodedBody body) {
    return new LocalEdit(id, deleted ? 0 : numberOf(given) + 1, deleted, body);
  }

  public LocalEdit(String id, long number, boolean deleted, ExplodedBody body) {
    this(id, number, deleted, body, UserContext.ANONYMOUS, Optional.empty());
  }

  @Override
  public LocalEdit by(UserContext user) {
    return new LocalEdit(id, number, deleted, body, user, fence);
  }

  @Override
  public LocalEdit withBody(ExplodedBody other) {
    return new LocalEdit(id, number, deleted, other, by, fence);
  }

  /** Local documents have none: as in CouchDB, what a client sends is not kept. */
  @Override
  public AttachmentEdits attachments() {
    return AttachmentEdits.NONE;
  }

  @Override
  public LocalEdit withAttachments(AttachmentEdits none) {
    return this;
  }

  @Override
  public LocalEdit within(Optional<Fence> other) {
    return new LocalEdit(id, number, deleted, body, by, other);
  }

  private static long numberOf(String revision) {
    String digits =
        revision.startsWith(REVISION_HEAD) ? revision.substring(REVISION_HEAD.length()) : "";
    boolean isNumber = !digits.isEmpty() && digits.chars().allMatch(c -> c >= '0' && c <= '9');
    if (!isNumber || digits.length() > MAX_DIGITS) {
      throw LectusException.badRequest("Invalid rev format");
    }
    return Long.parseLong(digits);
  }
}
