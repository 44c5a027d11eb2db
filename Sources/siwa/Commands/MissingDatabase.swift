import Foundation

/// There is no database where the configuration says. A command that works on what is stored must not make an empty one and
/// call that a success.
struct MissingDatabase: Error, Equatable, CustomStringConvertible {
    let path: String

    var description: String {
        "There is no database at \(path). See that DATABASE_URL names the right file; siwa serve makes a new one."
    }
}

extension DatabaseLocation {
    func checkPresence() throws(MissingDatabase) {
        switch self {
        case .sqlite(let path):
            let file = URL(fileURLWithPath: path)
            let values = try? file.resolvingSymlinksInPath().resourceValues(forKeys: [
                .isRegularFileKey, .fileSizeKey,
            ])
            // A database is never empty: an empty file is an attempt to make one.
            guard values?.isRegularFile == true, values?.fileSize ?? 0 > 0 else {
                throw MissingDatabase(path: file.path)
            }
        }
    }
}
