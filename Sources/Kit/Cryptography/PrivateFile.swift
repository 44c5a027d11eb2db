package import Foundation

/// Creates files that only their owner can read. The mode is set when the file is created: between creation
/// and a later chmod another user could open the file and keep it open.
package enum PrivateFile {
    /// Creates a file, and never changes an existing file. Throws `CocoaError` with `.fileWriteFileExists`,
    /// or with another code when the file cannot be created or written.
    package static func make(at path: String, content: Data) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CocoaError(errno == EEXIST ? .fileWriteFileExists : .fileWriteUnknown)
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: content)
            try handle.synchronize()
            try handle.close()
        } catch {
            // The next start would use an incomplete file.
            try? FileManager.default.removeItem(atPath: path)
            throw error
        }
    }
}
