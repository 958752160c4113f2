package lectus.derived.rows;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.derived.EditWork;
import lectus.derived.StoredFeed;
import lectus.document.read.SelectedDocuments;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.json.LeafView;
import lectus.json.MalformedTupleException;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;

/**
 * In which channels of a stored feed a document is.
 *
 * @param channels with its standing in each
 * @param ofEach the channels of each leaf, the winner's first
 * @param refused why the feed cannot take the document, which then is in no channel
 * @param isCertain whether that follows from the document alone; otherwise another edit of the very
 *     same content may have decided otherwise, because the database had other indexes and feeds
 */
public record Belonging(
    Map<String, Standing> channels,
    List<Set<String>> ofEach,
    Optional<String> refused,
    boolean isCertain) {
  static final Belonging NONE = new Belonging(Map.of(), List.of(), Optional.empty(), true);

  /**
   * @param leaves of the document, the winner first, with what the feed's channels need; none of a
   *     document that is not there
   */
  public static Belonging of(StoredFeed feed, List<LeafView> leaves, EditWork work) {
    if (leaves.isEmpty()) {
      return NONE;
    }
    EditWork.Share share = work.share();
    try {
      Map<String, Standing> channels = new HashMap<>();
      List<Set<String>> ofEach = new ArrayList<>(leaves.size());
      for (LeafView leaf : leaves) {
        Standing standing = ofEach.isEmpty() ? Standing.MEMBER : Standing.BESIDE;
        Set<String> its = feed.channels(leaf, share);
        its.forEach(channel -> channels.putIfAbsent(channel, standing));
        StoredFeed.checkCount(channels.size());
        ofEach.add(its);
      }
      return new Belonging(channels, ofEach, Optional.empty(), share.isCertain());
    } catch (LectusException refusal) {
      return new Belonging(
          Map.of(), List.of(), Optional.of(refusal.error().reason()), share.isCertain());
    }
  }

  /** How a document stands to a channel of a stored feed. Its number is stored. */
  public enum Standing {
    /** Its winner is in the channel. */
    MEMBER(0),
    /** Another leaf is in the channel, its winner is not. */
    BESIDE(1),
    /** It was in the channel, and the edit took it out. */
    LEFT(2);

    private final int number;

    Standing(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }

    static Standing numbered(int number) {
      for (Standing standing : values()) {
        if (standing.number == number) {
          return standing;
        }
      }
      throw new MalformedTupleException("No standing has the number " + number);
    }

    /** Returns the one that says more of a document in two channels at once. */
    public Standing or(Standing other) {
      return compareTo(other) <= 0 ? this : other;
    }
  }

  /** What stored feeds look at in the leaves of one document. Each is read once. */
  static final class DocumentLeaves {
    private final SelectedDocuments documents;
    private final String id;
    private final Map<Leaf, SelectedDocuments.Started> started = new HashMap<>();
    private final Map<Leaf, LeafView> views = new HashMap<>();

    /** What tells the leaves of a document apart. */
    record Leaf(RevisionId revision, boolean deleted) {
      static Leaf of(EditBranch branch) {
        return new Leaf(branch.leaf(), branch.deleted());
      }
    }

    DocumentLeaves(SelectedDocuments documents, String id) {
      this.documents = documents;
      this.id = id;
    }

    /** Starts to read a leaf that is stored. */
    void start(EditBranch branch) {
      started.computeIfAbsent(
          Leaf.of(branch), leaf -> documents.start(id, leaf.deleted, leaf.revision));
    }

    /** Takes a leaf that is not stored yet. */
    void take(EditBranch branch, ExplodedBody body) {
      views.put(Leaf.of(branch), documents.leaves(id, branch.deleted(), branch.leaf(), body));
    }

    /** Returns leaves that were started or taken, in the same order. */
    List<LeafView> of(List<EditBranch> branches) {
      List<LeafView> leaves = new ArrayList<>(branches.size());
      for (EditBranch branch : branches) {
        leaves.add(
            views.computeIfAbsent(Leaf.of(branch), leaf -> documents.leaves(started.get(leaf))));
      }
      return leaves;
    }
  }
}
