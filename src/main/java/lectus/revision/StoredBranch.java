package lectus.revision;

import com.apple.foundationdb.KeyValue;

/**
 * An edit branch with the row it was read from.
 *
 * @param hasTextKey whether the row's key has the hash as a string, as databases of the first
 *     format store every hash that is not 32 hex digits
 */
public record StoredBranch(KeyValue row, EditBranch branch, boolean hasTextKey) {

  /** Whether this version interprets the row differently from the version that wrote it. */
  public boolean isFormer() {
    return hasTextKey || branch.ancestors().hasTextsLikeHashes();
  }

  /**
   * Whether the branch has a text of 16 bytes, which used to differ from the hash of these bytes,
   * so that another branch may contain that hash.
   */
  public boolean mayMeetAnother() {
    return (hasTextKey && !branch.leaf().hash().odd()) || branch.ancestors().hasTextsLikeHashes();
  }
}
