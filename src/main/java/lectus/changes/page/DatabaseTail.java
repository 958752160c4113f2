package lectus.changes.page;

import java.util.Optional;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * The state of one life of a database.
 *
 * @param isOver whether the database was deleted, and perhaps created again under its name
 * @param last its update sequence, or that of a later change of its configuration; empty if there
 *     is neither
 */
public record DatabaseTail(InstanceId instance, boolean isOver, Optional<Sequence> last) {}
