package lectus.changes.filter;

import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.function.Predicate;
import lectus.changes.log.ChangeEntry;

/** Filters entries by their documents' ids. */
final class EntriesById implements PassingEntries {
  private final List<ChangeEntry> entries;
  private final Predicate<String> passes;
  private int lookedAt;

  EntriesById(List<ChangeEntry> entries, Predicate<String> passes) {
    this.entries = entries;
    this.passes = passes;
  }

  @Override
  public boolean hasNext() {
    while (lookedAt < entries.size() && !passes.test(entries.get(lookedAt).docId())) {
      lookedAt++;
    }
    return lookedAt < entries.size();
  }

  @Override
  public Passing next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return new Passing(entries.get(lookedAt++), Optional.empty());
  }

  @Override
  public int lookedAt() {
    return lookedAt;
  }
}
