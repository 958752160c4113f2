package lectus.http.access;

import lectus.access.Admission;
import lectus.access.DatabaseRight;
import lectus.access.UserContext;
import lectus.account.AdmissionCheck;
import lectus.account.UserDocuments;
import lectus.database.DatabaseHandle;
import lectus.database.Permit;
import lectus.error.LectusException;

/**
 * What the gate found when it let a request pass, judged again whenever a database is read for it.
 *
 * @param required by the request's route
 * @param had the right on the database when the request was admitted
 */
record RequestPermit(
    Admission admission,
    RequiredRight required,
    DatabaseRight had,
    DatabaseGuard guard,
    AdmissionCheck admissions)
    implements Permit {

  @Override
  public void judge(DatabaseHandle db) {
    UserContext user = admission.user();
    if (user.isServerAdmin() || required.ofDatabase().isEmpty()) {
      return;
    }
    DatabaseRight has = guard.judge(user, db);
    if (!has.includes(needed(db))) {
      throw required.refusal(user, has);
    }
  }

  /** An admin of a database of users is shown more of it than others are. */
  private DatabaseRight needed(DatabaseHandle db) {
    return UserDocuments.areIn(db.name()) ? had : required.ofDatabase().orElse(DatabaseRight.NONE);
  }

  /**
   * @throws LectusException {@code unauthorized}
   */
  @Override
  public void checkAdmission() {
    admissions.check(admission);
  }
}
