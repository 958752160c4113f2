package lectus.document.write;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import lectus.json.ExplodedBody;
import lectus.mango.index.EntryChange;
import lectus.revision.BranchUpdate;
import lectus.revision.RevisionId;
import lectus.storedfeed.FeedChange;

/**
 * Everything that one transaction writes for one replicating document.
 *
 * @param bodies what the new leaves contain
 * @param design what changes because it is a design document
 * @param entries the rows of indexes that change
 * @param feeds the rows of stored feeds that change
 * @param purged the leaves that are removed without a successor
 */
public record DocumentUpdate(
    String id,
    BranchUpdate branches,
    Map<RevisionId, LeafContent> bodies,
    DesignChange design,
    List<EntryChange> entries,
    List<FeedChange> feeds,
    List<RevisionId> purged)
    implements PlannedUpdate {

  public DocumentUpdate(String id, BranchUpdate branches, Map<RevisionId, LeafContent> bodies) {
    this(id, branches, bodies, DesignChange.NONE, List.of(), List.of(), List.of());
  }

  /** Returns the removal of leaves. */
  static DocumentUpdate purging(String id, BranchUpdate branches, List<RevisionId> leaves) {
    return new DocumentUpdate(
        id, branches, Map.of(), DesignChange.NONE, List.of(), List.of(), leaves);
  }

  /** Returns the bodies of the new leaves, without attachments. */
  Map<RevisionId, ExplodedBody> members() {
    Map<RevisionId, ExplodedBody> members = new HashMap<>();
    bodies.forEach((leaf, content) -> members.put(leaf, content.body()));
    return members;
  }

  DocumentUpdate with(DesignChange change) {
    return new DocumentUpdate(id, branches, bodies, change, entries, feeds, purged);
  }

  DocumentUpdate withEntries(List<EntryChange> changes) {
    return new DocumentUpdate(id, branches, bodies, design, changes, feeds, purged);
  }

  DocumentUpdate withFeeds(List<FeedChange> changes) {
    return new DocumentUpdate(id, branches, bodies, design, entries, changes, purged);
  }
}
