package lectus.document.read;

import com.apple.foundationdb.ReadTransaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.Attachment;
import lectus.database.DatabaseHandle;
import lectus.document.AttachmentJson;
import lectus.document.AttachmentJson.FollowingAttachments;
import lectus.document.AttachmentsShown;
import lectus.document.DocumentJson;
import lectus.document.ReadAhead;
import lectus.document.StoredBody;
import lectus.document.read.DocumentWithBytes.RelatedParts;
import lectus.json.JsonBuffer;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;

/** Writes the pieces of an answer; reads the bodies of several leaves together. */
public final class PartWriter {
  /** Target size of an answer's part, in bytes; a part ends after the piece that reaches it. */
  public static final int PART_BYTES = 256 * 1024;

  private static final int TYPICAL_BYTES = 1_024;

  private final ReadTransaction tx;
  private final Bodies bodies;
  private final boolean revs;
  private final int revsLimit;
  private final AttachmentsShown shown;
  private final AttachmentJson attachments;
  private final FollowingAttachments following = new FollowingAttachments();
  private final JsonBuffer out;
  private final ReadAhead readAhead = new ReadAhead();

  /**
   * @param revs adds {@code _revisions}
   */
  public PartWriter(
      ReadTransaction tx, DatabaseHandle db, boolean revs, AttachmentsShown shown, JsonBuffer out) {
    this.shown = shown;
    this.attachments = new AttachmentJson(shown, following);
    this.tx = tx;
    this.bodies = new Bodies(db);
    this.revs = revs;
    this.revsLimit = db.configuration().revsLimit();
    this.out = out;
  }

  /**
   * Appends pieces, starting at index {@code from}, until the buffer has {@code enough} bytes.
   *
   * @return the index of the first piece that was not appended
   */
  public int append(List<Piece> pieces, int from, int enough) {
    int next = from;
    while (next < pieces.size() && out.length() < enough) {
      int before = out.length();
      int leaves = 0;
      Deque<CompletableFuture<StoredBody>> reading = start(pieces.subList(next, pieces.size()));
      while (next < pieces.size() && out.length() < enough) {
        Piece piece = pieces.get(next);
        if (piece instanceof Piece.Text text) {
          out.raw(text.bytes());
        } else if (piece instanceof Piece.Leaf leaf && !reading.isEmpty()) {
          append(leaf, Awaiting.await(reading.remove()));
          leaves++;
        } else {
          break;
        }
        next++;
      }
      readAhead.took(Math.max(1, leaves), out.length() - before);
    }
    return next;
  }

  /** Begins to read the bodies of the first leaves. */
  private Deque<CompletableFuture<StoredBody>> start(List<Piece> pieces) {
    Deque<CompletableFuture<StoredBody>> reading = new ArrayDeque<>();
    for (int i = 0; i < pieces.size() && reading.size() < readAhead.size(); i++) {
      if (pieces.get(i) instanceof Piece.Leaf leaf) {
        reading.add(bodies.of(tx, leaf.id(), leaf.branch()));
      }
    }
    return reading;
  }

  private void append(Piece.Leaf leaf, StoredBody body) {
    boolean deleted = leaf.branch().deleted();
    if (!deleted && !body.isStored()) {
      out.raw(leaf.ifGone());
      return;
    }
    if (leaf.frame().related().isPresent() && leaf.branch().body().hasAttachments()) {
      appendRelated(leaf, body, leaf.frame().related().get());
      out.raw(leaf.frame().behind());
    } else {
      out.raw(leaf.frame().before());
      appendDocument(out, leaf, body);
      out.raw(leaf.frame().behind());
    }
  }

  private void appendRelated(Piece.Leaf leaf, StoredBody body, Piece.Related related) {
    JsonBuffer json = new JsonBuffer(TYPICAL_BYTES);
    appendDocument(json, leaf, body);
    List<Attachment> behind = following.take();
    if (behind.isEmpty()) {
      out.raw(leaf.frame().before()).raw(json.array(), 0, json.length());
    } else {
      out.raw(related.before(leaf.id(), leaf.branch().leaf()));
      RelatedParts.append(out, related.boundary(), json.toBytes(), behind);
    }
  }

  private void appendDocument(JsonBuffer to, Piece.Leaf leaf, StoredBody body) {
    boolean deleted = leaf.branch().deleted();
    DocumentJson.append(to, leaf.id(), deleted, leaf.branch().leaf(), body);
    if (revs) {
      DocumentJson.appendRevisions(to, leaf.branch(), revsLimit);
    }
    shownTo(leaf).close(to, body.attachments(), leaf.branch());
  }

  private AttachmentJson shownTo(Piece.Leaf leaf) {
    return leaf.known().isEmpty()
        ? attachments
        : new AttachmentJson(shown.since(leaf.known()), following);
  }

  /** A part of an answer that lists revisions of documents. */
  public sealed interface Piece {
    /** Bytes that are already known. */
    record Text(byte[] bytes) implements Piece {}

    static Piece text(String ascii) {
      return new Text(ascii.getBytes(StandardCharsets.US_ASCII));
    }

    /** The bytes around a document, left out together with it. */
    record Frame(byte[] before, byte[] behind, Optional<Related> related) {
      public static Frame of(String before, String behind) {
        return new Frame(
            before.getBytes(StandardCharsets.US_ASCII),
            behind.getBytes(StandardCharsets.US_ASCII),
            Optional.empty());
      }

      /** Returns the frame with another beginning for documents that attachments follow. */
      public Frame orRelated(Related other) {
        return new Frame(before, behind, Optional.of(other));
      }
    }

    /** What stands around a document that is followed by its attachments. */
    interface Related {
      /** Returns the boundary between the document and its attachments. */
      String boundary();

      /** Returns what comes before the first of these boundaries. */
      byte[] before(String id, RevisionId revision);
    }

    /**
     * A leaf still to be read.
     *
     * @param known revisions that the client has: attachments that one of them had are stubs; empty
     *     if all leaves of the answer are shown alike
     * @param ifGone replaces document and frame if the leaf was updated after its branch was read
     */
    record Leaf(String id, EditBranch branch, List<RevisionId> known, Frame frame, byte[] ifGone)
        implements Piece {
      public Leaf(String id, EditBranch branch, Frame frame, byte[] ifGone) {
        this(id, branch, List.of(), frame, ifGone);
      }
    }
  }
}
