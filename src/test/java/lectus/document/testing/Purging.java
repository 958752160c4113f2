package lectus.document.testing;

import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import lectus.database.UserContext;
import lectus.document.edit.PurgeEdit;
import lectus.revision.RevisionId;

/** Purges as tests write them. */
public final class Purging {
  private Purging() {}

  /** A leaf of a document. */
  public record Named(String id, RevisionId leaf) {}

  public static PurgeEdit of(String id, Set<RevisionId> leaves) {
    return new PurgeEdit(
            id, stored -> stored.stream().filter(it -> leaves.contains(it.leaf())).toList())
        .by(UserContext.SERVER);
  }

  public static PurgeEdit of(String id, RevisionId... leaves) {
    return of(id, Arrays.stream(leaves).collect(Collectors.toSet()));
  }
}
