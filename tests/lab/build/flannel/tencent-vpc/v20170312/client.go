// Copyright (c) podnet.kubeadm contributors
// GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
// SPDX-License-Identifier: GPL-3.0-or-later

// Package v20170312 stands in for Tencent's VPC client, which the Go module proxy does not carry. It has the few types
// that flannel's tencent-vpc backend names; every request answers errAbsent. No other backend uses it.
package v20170312

import "errors"

var errAbsent = errors.New("this flannel was built without Tencent's VPC client: the tencent-vpc backend cannot be used")

type (
	Client struct{}
	Filter struct {
		Name   *string
		Values []*string
	}
	Route struct {
		RouteId              *uint64
		DestinationCidrBlock *string
		GatewayType          *string
		GatewayId            *string
		RouteType            *string
		Enabled              *bool
	}
	RouteTable struct {
		RouteTableId *string
		RouteSet     []*Route
	}
	DescribeRouteTablesRequest  struct{ Filters []*Filter }
	DescribeRouteTablesResponse struct {
		Response *struct{ RouteTableSet []*RouteTable }
	}
	RoutesRequest struct {
		RouteTableId *string
		Routes       []*Route
	}
	RoutesResponse struct{}
)

func NewClientWithSecretId(_, _, _ string) (*Client, error) { return nil, errAbsent }

func NewDescribeRouteTablesRequest() *DescribeRouteTablesRequest {
	return &DescribeRouteTablesRequest{}
}
func NewDeleteRoutesRequest() *RoutesRequest { return &RoutesRequest{} }
func NewCreateRoutesRequest() *RoutesRequest { return &RoutesRequest{} }

func (*Client) DescribeRouteTables(*DescribeRouteTablesRequest) (*DescribeRouteTablesResponse, error) {
	return nil, errAbsent
}
func (*Client) DeleteRoutes(*RoutesRequest) (*RoutesResponse, error) { return nil, errAbsent }
func (*Client) CreateRoutes(*RoutesRequest) (*RoutesResponse, error) { return nil, errAbsent }
