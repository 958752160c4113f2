package lectus.http.document;

import java.util.ArrayList;
import java.util.List;
import lectus.account.Accounts;
import lectus.account.UserDocuments;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.measure.StageNotes;

/**
 * Completes a write of users' documents when what depends on them has followed, so that a client
 * that has made a user finds him and his database.
 */
record FollowedUsers(Accounts accounts, Completion completion) implements Completion {
  /** Nobody waits for the databases of more users. */
  private static final int MOST_AWAITED = 100;

  @Override
  public void written(List<EditOutcome> outcomes) {
    List<String> users = new ArrayList<>();
    for (EditOutcome outcome : outcomes) {
      if (outcome instanceof EditOutcome.Written || outcome instanceof EditOutcome.Purged) {
        UserDocuments.nameIn(outcome.id()).ifPresent(users::add);
      }
    }
    if (users.size() > MOST_AWAITED) {
      accounts.userEdits().follow(users);
      completion.written(outcomes);
    } else {
      accounts
          .userEdits()
          .follow(users)
          .whenComplete((nothing, failure) -> completion.written(outcomes));
    }
  }

  @Override
  public void failed(Throwable failure) {
    completion.failed(failure);
  }

  @Override
  public boolean isAwaited() {
    return completion.isAwaited();
  }

  @Override
  public StageNotes stages() {
    return completion.stages();
  }
}
