package lectus.image;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import lectus.attachment.ContentId;
import lectus.error.LectusException;
import lectus.image.ImageFrame.Abandoned;
import lectus.image.ImageFrame.Chunk;
import lectus.image.ImageFrame.Content;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.DocumentLeaf;
import lectus.image.ImageFrame.End;
import lectus.image.ImageFrame.Gone;
import lectus.image.ImageFrame.Header;

/**
 * The contents of attachments that images have which follow each other. Whoever keeps the images
 * names their contents, and the next increment comes without these:
 *
 * <pre>
 * for each content, in order: the first 16 bytes of its SHA-256
 * </pre>
 *
 * <p>It also finds out whether images show a content that neither they nor those before have.
 */
public final class HeldContents {
  /** Nobody can make two contents that begin alike, in bytes. */
  private static final int NAME_BYTES = 16;

  /** How many are remembered and named: 8 MB. Others come again with each increment. */
  private static final int MOST = 500_000;

  public static final int MOST_NAMED_BYTES = MOST * NAME_BYTES;

  private final int most;
  private final Set<ContentId> all = new HashSet<>();
  private final List<ContentId> added = new ArrayList<>();

  /** Documents with the contents that had not come before them. */
  private final Map<String, Set<ContentId>> waiting = new HashMap<>();

  private String document = "";
  private Optional<ContentId> arriving = Optional.empty();
  private boolean isPartial;
  private Optional<String> lacking = Optional.empty();

  public HeldContents() {
    this(MOST);
  }

  /**
   * @param most how many are remembered and named
   */
  HeldContents(int most) {
    this.most = most;
  }

  /**
   * Reads what {@link #named} returns.
   *
   * @throws LectusException {@code bad_request}
   */
  public static Predicate<ContentId> of(byte[] named) {
    boolean isOrdered = named.length % NAME_BYTES == 0;
    for (int at = NAME_BYTES; isOrdered && at < named.length; at += NAME_BYTES) {
      isOrdered = compare(named, at - NAME_BYTES, named, at) < 0;
    }
    if (!isOrdered) {
      throw LectusException.badRequest(
          "The body names contents by the first 16 bytes of the SHA-256 of each, in order.");
    }
    return content -> isAmong(named, content.bytes());
  }

  private static boolean isAmong(byte[] named, byte[] sha256) {
    int from = 0;
    int to = named.length / NAME_BYTES;
    while (from < to) {
      int middle = (from + to) >>> 1;
      int order = compare(named, middle * NAME_BYTES, sha256, 0);
      if (order == 0) {
        return true;
      }
      from = order < 0 ? middle + 1 : from;
      to = order < 0 ? to : middle;
    }
    return false;
  }

  private static int compare(byte[] one, int from, byte[] other, int otherFrom) {
    return Arrays.compareUnsigned(
        one, from, from + NAME_BYTES, other, otherFrom, otherFrom + NAME_BYTES);
  }

  /** Returns the names of the contents. */
  public byte[] named() {
    List<byte[]> names = new ArrayList<>(all.size());
    all.forEach(it -> names.add(Arrays.copyOf(it.bytes(), NAME_BYTES)));
    names.sort(Arrays::compareUnsigned);
    byte[] named = new byte[names.size() * NAME_BYTES];
    for (int i = 0; i < names.size(); i++) {
      System.arraycopy(names.get(i), 0, named, i * NAME_BYTES, NAME_BYTES);
    }
    return named;
  }

  /** Adds a content of an image. */
  public void add(ContentId content) {
    if (all.size() == most && !all.contains(content)) {
      missSome();
    } else if (all.add(content)) {
      added.add(content);
    }
  }

  /** There are contents that it does not remember, so nothing is said to be lacking. */
  public void missSome() {
    isPartial = true;
  }

  /** Returns those that the last image has and those before it have not. */
  public List<ContentId> added() {
    return List.copyOf(added);
  }

  /** Returns a document that shows a content which neither the last image nor those before have. */
  public Optional<String> lacking() {
    return lacking;
  }

  /** Takes the next frame of the images. */
  public void take(ImageFrame frame) {
    if (frame instanceof Abandoned) {
      if (arriving.isEmpty()) {
        waiting.remove(document);
      }
      arriving = Optional.empty();
    } else if (!(frame instanceof Chunk)) {
      boolean isBehindContent = arriving.isPresent();
      arriving.ifPresent(this::add);
      arriving = Optional.empty();
      if (isBehindContent && !(frame instanceof Content)) {
        waiting.values().removeIf(all::containsAll);
      }
      takeWhole(frame);
    }
  }

  private void takeWhole(ImageFrame frame) {
    if (frame instanceof Header header) {
      begin(header.since().isEmpty());
    } else if (frame instanceof Content content) {
      arriving = Optional.of(content.id());
    } else if (frame instanceof Document next) {
      document = next.id();
      waiting.remove(document);
    } else if (frame instanceof DocumentLeaf leaf) {
      leaf.attachments().contents().stream()
          .filter(it -> !isPartial && !all.contains(it))
          .forEach(it -> waiting.computeIfAbsent(document, id -> new HashSet<>()).add(it));
    } else if (frame instanceof Gone gone) {
      waiting.remove(gone.id());
    } else if (frame instanceof End) {
      lacking = isPartial ? Optional.empty() : waiting.keySet().stream().sorted().findFirst();
      waiting.clear();
    }
  }

  private void begin(boolean isWhole) {
    if (isWhole) {
      all.clear();
      isPartial = false;
    }
    added.clear();
    waiting.clear();
    arriving = Optional.empty();
    lacking = Optional.empty();
  }
}
