/// Some columns of a table, for one statement.
public struct ColumnChoice<T: Table>: Sendable {
    let columns: @Sendable () -> [any AnyColumn]

    /// Every column, in the order of the declaration.
    public static var all: Self {
        Self {
            var list = ColumnList()
            _ = T(&list)
            return list.columns
        }
    }

    /// These columns, in this order.
    public static func only(_ pick: @escaping @Sendable (T) -> [any AnyColumn]) -> Self {
        Self {
            var list = ColumnList()
            return pick(T(&list))
        }
    }

    /// Every column except these, in the order of the declaration. Includes columns that are declared later.
    public static func except(_ pick: @escaping @Sendable (T) -> [any AnyColumn]) -> Self {
        Self {
            var list = ColumnList()
            let left = Set(pick(T(&list)).map(\.name.description))
            return list.columns.filter { !left.contains($0.name.description) }
        }
    }
}
