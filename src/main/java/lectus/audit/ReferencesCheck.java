package lectus.audit;

import com.apple.foundationdb.ReadTransaction;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import lectus.attachment.Attachment;
import lectus.attachment.AttachmentList;
import lectus.attachment.ContentsSubspace;
import lectus.attachment.ReferencesSubspace;
import lectus.attachment.StoredContent;
import lectus.database.DatabaseHandle;
import lectus.document.body.DocumentsSubspace;
import lectus.store.Awaiting;

/** Checks that what a document's leaves show as attachments is there, and referred to. */
final class ReferencesCheck {
  private ReferencesCheck() {}

  /** Returns what is wrong. Empty if nothing is. */
  static List<String> of(
      ReadTransaction tx,
      DatabaseHandle db,
      String id,
      Map<StoredDocument.Leaf, AttachmentList> attachments) {
    List<String> problems = new ArrayList<>();
    ContentsSubspace contents = new ContentsSubspace(db.prefix());
    ReferencesSubspace references = new ReferencesSubspace(db.prefix());
    attachments.forEach(
        (leaf, list) -> {
          byte[] key = DocumentsSubspace.leaf(leaf.deleted(), leaf.revision());
          for (Attachment it : list.all()) {
            if (!Awaiting.await(references.contains(tx, it.content(), id, key))) {
              problems.add("its attachment " + it.name() + " of " + leaf + " has no reference");
            }
            Awaiting.await(contents.get(tx, it.content()))
                .ifPresentOrElse(
                    content -> check(it, leaf, content, problems),
                    () -> problems.add("its attachment " + it.name() + " of " + leaf + " is lost"));
          }
        });
    return problems;
  }

  private static void check(
      Attachment it, StoredDocument.Leaf leaf, StoredContent content, List<String> problems) {
    boolean isSame = content.length() == it.storedLength() && content.md5().equals(it.md5());
    if (!isSame) {
      problems.add("its attachment " + it.name() + " of " + leaf + " has another content");
    }
  }
}
