package lectus.document.edit;

import java.util.Optional;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentUpload;
import lectus.attachment.ContentId;
import lectus.attachment.ContentsSubspace.StoredContent;
import lectus.attachment.Md5;

/** An attachment as an edit has it. */
public sealed interface EditedAttachment {
  String name();

  /** Returns about how many bytes of memory it holds. */
  long memoryBytes();

  /** Returns how many bytes its content has as it is sent with this edit; 0 if none is. */
  default long lengthAsSent() {
    return 0;
  }

  /**
   * One that the document has already.
   *
   * @param position that it has to have, if it was given
   * @param md5 that replicators send with it
   */
  record Stub(String name, Optional<Long> position, Optional<Md5> md5) implements EditedAttachment {
    @Override
    public long memoryBytes() {
      return MEMORY_BYTES + name.length();
    }
  }

  /**
   * One whose content the database may have already, in whatever document.
   *
   * @param position for a revision that was made elsewhere
   * @param length of the bytes before they were encoded
   * @param storedLength of the bytes as they are stored
   * @param gzipped whether they are stored compressed
   */
  record Known(
      String name,
      String type,
      long position,
      ContentId content,
      long length,
      long storedLength,
      boolean gzipped)
      implements EditedAttachment {
    @Override
    public long memoryBytes() {
      return MEMORY_BYTES + name.length() + type.length();
    }

    /**
     * Returns the attachment with this content, if that has the lengths that were said. As in
     * {@link AttachmentUpload#finish}, both may be that of the compressed bytes.
     */
    public Optional<Attachment> of(StoredContent stored) {
      long plain = gzipped ? stored.plainLength().orElse(-1L) : stored.length();
      boolean isSo = plain >= 0 && (length == plain || length == storedLength);
      return isSo && stored.length() == storedLength
          ? Optional.of(
              new Attachment(
                  name, type, content, stored.md5(), plain, storedLength, gzipped, position))
          : Optional.empty();
    }
  }

  /**
   * One whose bytes came with the document, and are not stored yet.
   *
   * @param position for a revision that was made elsewhere
   */
  record Inline(String name, String type, long position, byte[] data) implements EditedAttachment {
    @Override
    public long memoryBytes() {
      return MEMORY_BYTES + name.length() + type.length() + data.length;
    }

    @Override
    public long lengthAsSent() {
      return data.length;
    }
  }

  /**
   * One whose bytes came with the document, and were stored while it came.
   *
   * @param attachment with a position for a revision that was made elsewhere. It may have to be
   *     stored otherwise: its type may have come after its bytes
   */
  record Arrived(Attachment attachment) implements EditedAttachment {
    @Override
    public String name() {
      return attachment.name();
    }

    @Override
    public long memoryBytes() {
      return MEMORY_BYTES + name().length() + attachment.type().length();
    }

    @Override
    public long lengthAsSent() {
      return attachment.length();
    }
  }

  /**
   * One whose bytes follow the document.
   *
   * @param position for a revision that was made elsewhere
   * @param length of the bytes before they were encoded, if it was given
   * @param encodedLength of the bytes as they come, if it was given
   * @param gzipped whether they come compressed
   */
  record Following(
      String name,
      String type,
      long position,
      Optional<Md5> md5,
      Optional<Long> length,
      Optional<Long> encodedLength,
      boolean gzipped)
      implements EditedAttachment {
    @Override
    public long memoryBytes() {
      return MEMORY_BYTES + name.length() + type.length();
    }

    @Override
    public long lengthAsSent() {
      return encodedLength.orElse(0L);
    }
  }

  /**
   * One whose content is stored.
   *
   * @param isNew whether this edit brings it, rather than the revision before
   */
  record Ready(Attachment attachment, boolean isNew) implements EditedAttachment {
    @Override
    public String name() {
      return attachment.name();
    }

    @Override
    public long memoryBytes() {
      return MEMORY_BYTES + name().length() + attachment.type().length();
    }
  }

  /** Of what is not text, about. */
  int MEMORY_BYTES = 400;
}
