import NIOHTTP1
import Testing

@testable import HTTPAPI

@Suite struct RouteTableTests {
    static let methods: [RouteMethod: HTTPMethod] = [.get: .GET, .post: .POST, .delete: .DELETE]

    @Test func `every route is found under its template, and under no other name`() throws {
        for endpoint in Endpoint.all {
            let path = ["{id}", "{sub}", "{grant_id}", "{client_id}", "{key_id}", "{name}"].reduce(
                endpoint.path.description
            ) {
                $0.replacing($1, with: "x")
            }
            let method = Self.methods[endpoint.method] ?? .TRACE
            let match = try RouteTable.all.match(method, path[...])
            #expect(match.endpoint === endpoint)
            #expect((match.parameter == "x") == endpoint.path.description.contains("{"))
            #expect((match.secondParameter == "x") == endpoint.path.description.contains("{grant_id}"))
            for wrong in [path + "/", path.dropLast() + "", path.uppercased(), "/" + path, path + "/x/y"] {
                #expect((try? RouteTable.all.match(method, wrong[...]))?.endpoint !== endpoint)
            }
        }
    }
}
