import Foundation

/// Location of the newest PostgreSQL server of this machine.
enum ServerPrograms {
    struct Missing: Error, CustomStringConvertible {
        let description = "there is no PostgreSQL server here: install the package postgresql"
    }

    static func path(_ name: String) throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let places =
            versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
            + ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        let files = FileManager.default
        guard let place = places.first(where: { files.isExecutableFile(atPath: "\($0)/postgres") }),
            files.isExecutableFile(atPath: "\(place)/\(name)")
        else { throw Missing() }
        return "\(place)/\(name)"
    }
}
