package lectus.database;

import java.util.List;
import java.util.Optional;

/**
 * Names read in one transaction.
 *
 * @param next where to continue; empty at the end of the range
 */
public record NamePage(List<DatabaseName> names, Optional<NameRange> next) {}
