import SQLTables

// GRDB also has a Column and a Table, for its query builder, which is not used here.
typealias Column<Value> = SQLTables.Column<Value>
typealias Table = SQLTables.Table
