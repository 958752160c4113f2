package lectus.revision;

import com.apple.foundationdb.KeyValue;

/**
 * An edit branch with the row that it was read from.
 *
 * @param hasTextKey whether the row's key has the hash as a string, which databases of the first
 *     format did with all but 32 hex digits
 */
public record StoredBranch(KeyValue row, EditBranch branch, boolean hasTextKey) {

  /** Whether the row means something else to this version than to the one that wrote it. */
  public boolean isFormer() {
    return hasTextKey || branch.ancestors().hasTextsLikeHashes();
  }

  /**
   * Whether the branch has a text of 16 bytes, which was told apart from the hash of these bytes:
   * perhaps another branch has it as that.
   */
  public boolean mayMeetAnother() {
    return (hasTextKey && !branch.leaf().hash().odd()) || branch.ancestors().hasTextsLikeHashes();
  }
}
