import Foundation
import PageTemplates
import TestSupport
import Testing

@testable import Console

@Suite struct TemplatesTests {
    @Test func `every file of the templates is one that pages can name`() throws {
        let folder = ProjectFolder.root.appending(path: "Sources/Console/Console/Templates")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".mustache") }.map { String($0.dropLast(".mustache".count)) }
        #expect(Set(files) == Set(Templates.files.keys))
        let library = try Templates.library()
        for name in files { #expect(library.render(name, ["": ""]) != nil) }
    }
}
