import Foundation
package import SQLTables
import TestSupport

/// The lists of columns with which the benchmark fills the databases of the service: SQL in its Python files, which no
/// compiler compares with the tables.
package enum BenchmarkRows {
    package struct List: Sendable {
        /// The last Python function that begins before the list; empty for a list that several functions use.
        package let function: String
        package let table: String
        package let columns: [String]

        package init(function: String, table: String, columns: [String]) {
            (self.function, self.table, self.columns) = (function, table, columns)
        }
    }

    /// Columns that the database numbers.
    private static let numbered: Set = ["team.id", "app.id", "subject.id"]

    /// All lists, in the order of the files.
    package static func lists() throws -> [List] {
        let folder = ProjectFolder.root.appending(components: "Benchmarks", "bench")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        return try names.filter { $0.hasSuffix(".py") }.sorted().flatMap { name in
            lists(in: try String(contentsOf: folder.appending(path: name), encoding: .utf8))
        }
    }

    /// Returns the mistakes in lists that this store would refuse.
    package static func mistakes(in lists: [List], of tables: [TableDeclaration]) -> [String] {
        lists.flatMap { list -> [String] in
            guard let table = tables.first(where: { $0.name == list.table }) else {
                return ["\(list.table): no such table"]
            }
            let known = Set(table.columns.map(\.name))
            let missing = table.columns.filter {
                $0.presence == .required && !numbered.contains("\(table.name).\($0.name)")
                    && !list.columns.contains($0.name)
            }
            return list.columns.filter { !known.contains($0) }.map { "\(list.table).\($0): no such column" }
                + missing.map { "\(list.table).\($0.name): is missing" }
        }
    }

    static func lists(in text: String) -> [List] {
        // Python joins texts that stand side by side.
        let text = text.replacing(#/"\s*\n\s*f?"/#, with: "")
        return text.matches(
            of: #/(INSERT INTO |")(?<table>[a-z_]+)( AS \w+)? \(\s*(?<columns>[a-z_]+(,\s*[a-z_]+)+)\s*\)/#
        ).map { list in
            List(
                function: text[..<list.range.lowerBound].matches(of: #/def (\w+)/#).last.map { String($0.1) }
                    ?? "",
                table: String(list.output.table),
                columns: list.output.columns.split { $0 == "," || $0.isWhitespace }.map(String.init))
        }
    }
}
