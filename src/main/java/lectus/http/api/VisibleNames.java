package lectus.http.api;

import java.util.List;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.DatabaseRequest;
import lectus.database.NameRange;
import lectus.database.UserContext;
import lectus.database.UserContext.DatabaseRight;
import lectus.http.auth.DatabaseGuard;

/**
 * The names of the databases in a range that a user may read, page by page. Those that the user may
 * not read count neither as skipped nor as listed.
 */
final class VisibleNames {
  /** Each database costs a look at its security. */
  private static final int JUDGED_AT_ONCE = 100;

  private final Catalogue catalogue;
  private final DatabaseGuard guard;
  private final UserContext user;
  Optional<NameRange> rest;
  private Optional<String> last = Optional.empty();
  private long toSkip;
  private long toList;

  VisibleNames(Catalogue catalogue, DatabaseGuard guard, UserContext user, NameRange range) {
    this.catalogue = catalogue;
    this.guard = guard;
    this.user = user;
    this.rest = Optional.of(range);
    this.toSkip = range.skip();
    this.toList = range.limit();
  }

  /** Returns the next names; there may be none, and more to come. */
  List<DatabaseName> next() {
    if (!user.isServerAdmin()) {
      return nextJudged(rest.orElseThrow());
    }
    NameRange.Page page = catalogue.names(rest.orElseThrow());
    rest = page.next();
    return page.names();
  }

  /** Returns one of the names, to be read if the user still may when that is done. */
  DatabaseRequest asked(DatabaseName name) {
    return guard.ifVisible(user, name);
  }

  private List<DatabaseName> nextJudged(NameRange range) {
    List<DatabaseName> names = catalogue.names(part(range)).names();
    List<DatabaseName> visible = shown(visible(names));
    if (names.size() < JUDGED_AT_ONCE || toList == 0) {
      rest = Optional.empty();
    } else {
      last = Optional.of(names.get(names.size() - 1).text());
    }
    return visible;
  }

  /** The last name is read again and skipped, so that both directions continue the same way. */
  private NameRange part(NameRange range) {
    return new NameRange(
        last.or(range::start),
        range.end(),
        range.inclusiveEnd(),
        range.descending(),
        last.isPresent() ? 1 : 0,
        JUDGED_AT_ONCE);
  }

  private List<DatabaseName> visible(List<DatabaseName> names) {
    return catalogue.glimpses(names).stream()
        .filter(db -> guard.judge(user, db).includes(DatabaseRight.MEMBER))
        .map(DatabaseHandle::name)
        .toList();
  }

  private List<DatabaseName> shown(List<DatabaseName> visible) {
    int from = (int) Math.min(toSkip, visible.size());
    toSkip -= from;
    int count = (int) Math.min(toList, visible.size() - from);
    toList -= count;
    return visible.subList(from, from + count);
  }
}
