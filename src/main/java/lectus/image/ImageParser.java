package lectus.image;

import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import lectus.attachment.Digests;
import lectus.error.LectusException;
import lectus.image.ImageFrame.Abandoned;
import lectus.image.ImageFrame.Chunk;
import lectus.image.ImageFrame.Content;
import lectus.image.ImageFrame.Departures;
import lectus.image.ImageFrame.Document;
import lectus.image.ImageFrame.DocumentLeaf;
import lectus.image.ImageFrame.End;
import lectus.image.ImageFrame.Header;
import lectus.image.ImageFrame.Settings;
import lectus.json.MalformedTupleException;
import lectus.json.MalformedTupleException.NewerFormatException;

/**
 * Reads images that follow each other, piece by piece as their bytes arrive, and checks them: each
 * frame and all of them together, that documents and contents are whole, and that an increment
 * begins where what precedes it ends. It has one frame in memory.
 */
public final class ImageParser {
  /** Longest payload, in bytes: a document's largest leaf, with its history, takes less. */
  static final int MOST_BYTES = 16 << 20;

  private static final int FIRST_BYTES = 64 << 10;

  private final Consumer<ImageFrame> to;
  private byte[] buffer = new byte[FIRST_BYTES];
  private int length;
  private long offset;
  private MessageDigest sha256 = Digests.sha256();
  private boolean isWithin;
  private long frames;
  private long documents;
  private long contents;
  private boolean hasSettings;
  private int leavesDue;
  private boolean departuresDue;
  private long bytesDue;
  private MessageDigest content;
  private Content begun;
  private Optional<Header> header = Optional.empty();
  private Optional<End> end = Optional.empty();

  /**
   * @param to takes the frames, of which each has been checked
   */
  public ImageParser(Consumer<ImageFrame> to) {
    this.to = to;
  }

  /** Returns the last header that was read. */
  public Optional<Header> header() {
    return header;
  }

  /** Returns the last end that was read. */
  public Optional<End> end() {
    return end;
  }

  /** Returns the bytes of the frame that has not come wholly. */
  public long heldBytes() {
    return buffer.length;
  }

  /**
   * Takes the next bytes.
   *
   * @throws LectusException {@code bad_image} (400) with a sentence; also what the consumer throws
   */
  public void take(byte[] bytes, int from, int to) {
    int at = from;
    while (at < to) {
      int wanted = wanted();
      int count = Math.min(to - at, wanted - length);
      if (length + count > buffer.length) {
        buffer =
            Arrays.copyOf(buffer, Math.min(wanted, Math.max(length + count, 2 * buffer.length)));
      }
      System.arraycopy(bytes, at, buffer, length, count);
      length += count;
      at += count;
      if (length == wanted() && length == wanted) {
        piece();
      }
    }
  }

  /** Returns how many bytes the mark has, or the frame as far as is known. */
  private int wanted() {
    if (!isWithin) {
      return ImageWriter.MARK.length;
    }
    if (length < ImageWriter.HEAD_BYTES) {
      return ImageWriter.HEAD_BYTES;
    }
    int payload = ImageWriter.number(buffer, 1);
    if (payload < 0 || payload > MOST_BYTES) {
      throw damaged("a frame says that it has " + Integer.toUnsignedLong(payload) + " bytes");
    }
    return ImageWriter.HEAD_BYTES + payload + ImageWriter.CHECK_BYTES;
  }

  private void piece() {
    if (!isWithin) {
      mark();
    } else {
      int checked = length - ImageWriter.CHECK_BYTES;
      if (ImageWriter.checksum(buffer, checked) != ImageWriter.number(buffer, checked)) {
        throw damaged("the checksum of a frame is wrong");
      }
      ImageFrame frame = frame(checked);
      check(frame);
      to.accept(frame);
      if (!(frame instanceof End)) {
        sha256.update(buffer, 0, length);
        frames++;
      }
    }
    offset += length;
    length = 0;
    if (buffer.length > FIRST_BYTES) {
      buffer = new byte[FIRST_BYTES];
    }
  }

  private void mark() {
    if (!Arrays.equals(buffer, 0, length, ImageWriter.MARK, 0, length)) {
      throw offset == 0
          ? bad("This is no image of a database.")
          : damaged("something else follows an image");
    }
    isWithin = true;
    sha256 = Digests.sha256();
    sha256.update(ImageWriter.MARK);
    frames = 0;
    documents = 0;
    contents = 0;
    hasSettings = false;
  }

  private ImageFrame frame(int checked) {
    try {
      return ImageFrame.read(
          buffer[0], Arrays.copyOfRange(buffer, ImageWriter.HEAD_BYTES, checked));
    } catch (NewerFormatException newer) {
      throw bad("The image was made by a newer version of Lectus.");
    } catch (MalformedTupleException | IllegalArgumentException malformed) {
      throw damaged("a frame cannot be read");
    }
  }

  private void check(ImageFrame frame) {
    if (frames == 0 != frame instanceof Header) {
      throw damaged(
          frames == 0 ? "it begins without its header" : "a header is not the first frame");
    }
    if (leavesDue > 0 || departuresDue || begun != null) {
      goOn(frame);
    } else {
      begin(frame);
    }
  }

  private void begin(ImageFrame frame) {
    if (frame instanceof Header next) {
      follow(next);
    } else if (frame instanceof Settings) {
      hasSettings = true;
    } else if (frame instanceof Document document) {
      require(hasSettings && document.leaves() > 0, "a document is out of place");
      leavesDue = document.leaves();
      departuresDue = document.hasDepartures();
      documents++;
    } else if (frame instanceof Content some) {
      require(hasSettings && some.length() >= 0, "a content is out of place");
      begun = some;
      bytesDue = some.length();
      content = Digests.sha256();
      contents++;
      endContentIfWhole();
    } else if (frame instanceof End last) {
      end(last);
    } else {
      boolean isPart =
          frame instanceof DocumentLeaf
              || frame instanceof Departures
              || frame instanceof Abandoned
              || frame instanceof Chunk;
      require(hasSettings && !isPart, "a frame is out of place");
    }
  }

  /** An increment can follow only what it was made for. */
  private void follow(Header next) {
    if (end.isPresent()) {
      Header former = header.orElseThrow();
      boolean isNext =
          next.instance().equals(former.instance())
              && next.since().equals(Optional.of(end.get().sequence()));
      if (!isNext) {
        throw bad(
            "The increments do not follow each other: one of "
                + next.database()
                + " from "
                + next.since().map(Object::toString).orElse("the beginning")
                + " comes behind the sequence "
                + end.get().sequence()
                + " of "
                + former.database()
                + ".");
      }
    }
    header = Optional.of(next);
  }

  private void goOn(ImageFrame frame) {
    if (frame instanceof Abandoned) {
      leavesDue = 0;
      departuresDue = false;
      begun = null;
    } else if (begun != null) {
      require(frame instanceof Chunk, "a content is not whole");
      chunk(((Chunk) frame).bytes());
    } else if (leavesDue > 0) {
      require(frame instanceof DocumentLeaf, "a document is not whole");
      leavesDue--;
    } else {
      require(frame instanceof Departures, "a document is not whole");
      departuresDue = false;
    }
  }

  private void chunk(byte[] bytes) {
    bytesDue -= bytes.length;
    content.update(bytes);
    require(bytes.length > 0 && bytesDue >= 0, "a content is longer than it says");
    endContentIfWhole();
  }

  private void endContentIfWhole() {
    if (bytesDue == 0) {
      require(Arrays.equals(content.digest(), begun.id().bytes()), "a content has another digest");
      begun = null;
    }
  }

  private void end(End last) {
    require(
        last.frames() == frames
            && last.documents() == documents
            && last.contents() == contents
            && hasSettings,
        "frames are missing");
    require(Arrays.equals(last.sha256(), sha256.digest()), "its checksum is wrong");
    end = Optional.of(last);
    isWithin = false;
  }

  /**
   * Ends the bytes.
   *
   * @return the end of the last image
   * @throws LectusException {@code bad_image} (400) if something is missing
   */
  public End finish() {
    if (isWithin || length > 0 || end.isEmpty()) {
      throw bad(
          offset + length == 0
              ? "The image is empty."
              : "The image is cut off behind byte " + (offset + length) + ".");
    }
    return end.get();
  }

  private void require(boolean isSound, String problem) {
    if (!isSound) {
      throw damaged(problem);
    }
  }

  private LectusException damaged(String problem) {
    return bad("The image is damaged at byte " + offset + ": " + problem + ".");
  }

  static LectusException bad(String reason) {
    return LectusException.badRequest("bad_image", reason);
  }
}
